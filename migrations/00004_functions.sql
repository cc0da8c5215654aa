-- Functions alone change: the package sqlfuncs has them, and each Up installs them. This number keeps an older program
-- from putting its own back, and with them short names in public that nobody asked for.

-- Down

-- There is nothing to take back.

const { execFileSync } = require('node:child_process');

module.exports = async ({ maxWorkers }) => {
  for (let worker = 1; worker <= maxWorkers; worker++) {
    execFileSync('dropdb', ['--if-exists', `shop_${worker}`]);
    execFileSync('createdb', ['--template', 'shop_template', `shop_${worker}`]);
  }
};

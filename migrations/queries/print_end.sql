PERFORM set_config(s.name, s.value, true) FROM jsonb_each_text(settings_before) AS s (name, value);
END

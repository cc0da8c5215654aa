SELECT pgflurry.uuidv7();

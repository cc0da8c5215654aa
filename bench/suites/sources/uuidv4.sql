SELECT pgflurry.uuidv4();

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --file "$PRINTED"

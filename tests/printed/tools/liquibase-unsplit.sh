changeset='--changeset tests:pgflurry splitStatements:false stripComments:false'
{ printf '%s\n\n' '--liquibase formatted sql' "$changeset"; cat "$PRINTED"; } >changelog.sql
liquibase=$NODE/liquibase/dist/liquibase
java -cp "$liquibase/liquibase.jar:$liquibase/lib/*:/usr/share/java/postgresql.jar" \
	liquibase.integration.commandline.Main --url="jdbc:postgresql://$PGHOST:$PGPORT/$PGDATABASE" \
	--username="$PGUSER" --changeLogFile=changelog.sql update

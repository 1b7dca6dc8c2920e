// Customers write LOC, DNAME, SMIMEA, OPENPGPKEY, CERT, HINFO, and types without a mnemonic (RFC 3597), whose rdata may be
// empty.

import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Not validated: every row satisfied narrower rules.
  `alter table records
     drop constraint records_type_check,
     add constraint records_type_check check (type in ('A', 'AAAA', 'CNAME', 'ANAME', 'NS', 'TXT', 'MX', 'SRV', 'PTR', 'CAA',
       'TLSA', 'SSHFP', 'URI', 'HTTPS', 'SVCB', 'DS', 'NAPTR', 'LOC', 'DNAME', 'SMIMEA', 'OPENPGPKEY', 'CERT', 'HINFO')
       or type ~ '^TYPE[1-9][0-9]{0,4}$') not valid,
     drop constraint records_rdata_check,
     add constraint records_rdata_check check (octet_length(rdata) <= 65535
       and (octet_length(rdata) > 0 or type like 'TYPE%')) not valid,
     drop constraint records_identity_check,
     add constraint records_identity_check check (octet_length(identity) <= 33
       and (octet_length(identity) > 0 or type like 'TYPE%')) not valid`,
  `do $do$ begin
     execute replace(pg_get_functiondef('check_records()'::regprocedure),
       'when count(*) > 1 and bool_or(r.type = ''CNAME''',
       'when count(*) filter (where r.type = ''DNAME'') > 1 then ''more than one DNAME''
         when count(*) > 1 and bool_or(r.type = ''CNAME''');
   end $do$`,
];

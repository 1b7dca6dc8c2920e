// Reads a zone file into import items, for the caller to look at; nothing is checked against the domain.

import { inPieces } from '../../store/postgres/in-pieces.ts';
import { parseRecords } from '../../zone/import/parse-records.ts';
import { domainRoute } from '../calls/route.ts';
import { ParsedZoneFile, ZoneFileText } from '../schemas/records/import.ts';

export const parseImport = domainRoute({
  method: 'POST',
  path: '/domains/{domain}/records/import/parse',
  operationId: 'parseImport',
  audit: { none: 'it writes nothing' },
  tag: 'Records',
  summary: 'Reads a zone file into records that can be imported.',
  description:
    'Writes nothing. Names are relative to the domain unless an $ORIGIN says otherwise. Every line that cannot be read is told, and the others are read; ANAME and ALIAS are an ANAME, and what an export says in comments is taken back.',
  permission: 'records.edit',
  writesRecords: true,
  writesNothing: true,
  whileDisabled: true,
  largeBody: true,
  isHeavy: ({ zone_file }) => /\$generate/i.test(zone_file), // one line can be many records
  problems: ['plan_limit'],
  textBody: 'zone_file',
  body: ZoneFileText,
  response: ParsedZoneFile,
  run: ({ body, domain }) => inPieces(parseRecords(body.zone_file, domain.name)),
});

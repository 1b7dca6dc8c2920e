// Reads a zone file or Route 53 JSON into import items. Queries the domain only for hosts that the file names.

import { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { inPieces } from '../../store/postgres/in-pieces.ts';
import { loadNamesInUse } from '../../store/records/load-touched-records.ts';
import { parseRecords } from '../../zone/import/parse-records.ts';
import { showWarnings, type ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import { domain, route } from '../calls/route.ts';
import { ParsedZoneFile, ZoneFileText } from '../schemas/records/import.ts';

export const parseImport = route(domain('records.edit', { whileDisabled: true, writesRecords: true }), {
  method: 'POST',
  path: '/domains/{domain}/records/import/parse',
  operationId: 'parseImport',
  audit: { none: 'it writes nothing' },
  tag: 'Records',
  summary: 'Reads a zone file or Route 53 JSON into records that can be imported.',
  description:
    'Writes nothing. Accepts a zone file (also as Cloudflare, GoDaddy, Windows DNS, cPanel and cli53 write it) and the JSON of `aws route53 list-resource-record-sets`; any other JSON and a CSV file cause exactly one error. Names in a zone file are relative to the domain unless an $ORIGIN says otherwise, names in Route 53 JSON are full. Every line that cannot be read is reported, and the others are read. ANAME, ALIAS and aliases of Route 53 become an ANAME, a record of type SPF becomes a TXT record unless its name has such a policy, and settings in comments of an export are read.',
  writesNothing: true,
  largeBody: true,
  isHeavy: ({ zone_file }) => /\$generate/i.test(zone_file), // one line can be many records
  problems: ['plan_limit'],
  textBody: 'zone_file',
  judgesText: true,
  query: z.strictObject({
    dots: z
      .literal('add')
      .optional()
      .describe(
        '`add`: a host of two or more labels is a full name also without its final dot, and so is an owner that ends in the name of the domain.',
      ),
  }),
  body: ZoneFileText,
  response: ParsedZoneFile,
  async run({ api, body, domain, query }) {
    const reading = parseRecords(body.zone_file, domain.name, { addDots: query.dots === 'add' });
    const parsed = await inPieces(reading);
    const warnings = await withoutKnownHosts(api.db, domain.id, parsed.warnings);
    return { ...parsed, warnings: showWarnings(warnings, domain.name) };
  },
});

/** The file may be only a part of the zone: a host that exists in the domain is not missing. */
async function withoutKnownHosts(
  db: Database,
  domainId: number,
  warnings: readonly ZoneWarning[],
): Promise<ZoneWarning[]> {
  const hosts = new Set(warnings.flatMap(({ host }): Name[] => (host === undefined ? [] : [host])));
  const known = await loadNamesInUse(db, domainId, [...hosts]);
  return warnings.filter(({ host }) => host === undefined || !known.has(host));
}

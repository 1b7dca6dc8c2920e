// Exports a domain's records as a zone file, as the owner entered them or as nameservers serve them.

import { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { printZoneFileEntries } from '../../dns/zone-file/print-zone-file.ts';
import { isOfSigner } from '../../store/keys/apex-keys.ts';
import { loadRecordsByName } from '../../store/records/load-touched-records.ts';
import { loadZone } from '../../store/zones/load-zones.ts';
import { printRecords } from '../../zone/import/print-records.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { isEdgeMark, isMark, type ZoneRecord } from '../../zone/zone.ts';
import { problem } from '../answers/problem.ts';
import { StreamedText } from '../answers/stream-text.ts';
import { domain, route } from '../calls/route.ts';

export const exportRecords = route(domain('domain.view'), {
  method: 'GET',
  path: '/domains/{domain}/records/export',
  operationId: 'exportRecords',
  tag: 'Records',
  summary: 'The records of a domain as a zone file.',
  description:
    '`origin`: as they were written, with what a zone file cannot say in comments: an import takes all of it back, and ANAME is no type that other servers know. `published`: what nameservers serve, SOA and NS included; a name without records, such as that of an ANAME without addresses, is not in it. `signed`: the same with keys, signatures and proofs (DNSKEY, RRSIG, NSEC or NSEC3), of a domain whose answers have them.',
  query: z.object({
    view: z.enum(['origin', 'published', 'signed']).optional().describe('`origin` unless said.'),
  }),
  textResponse: 'text/dns',
  response: z.string(),
  answerHeaders: ['Content-Disposition'],
  problems: ['wrong_state'],
  async run({ api, domain, query, answerHeader }) {
    const { id, name, served } = domain;
    const { view = 'origin' } = query;
    if (view === 'origin') {
      answerHeader('Content-Disposition', attachment(`${fileName(name)}.origin.zone`));
      const records = [...(await loadRecordsByName(api.db, id))];
      const own = records.map(
        ([owner, list]) => [owner, list.filter(({ managed }) => managed !== true)] as const,
      );
      return new StreamedText(printRecords(name, new Map(own)));
    }
    const zone = served === 'none' ? undefined : await loadZone(api.db, name);
    if (zone === undefined) return problem('wrong_state', 'the domain has no published records');
    const records = zone.records.filter((record) => !isMark(record) && !isEdgeMark(record));
    const isSigned = view === 'signed';
    if (isSigned && !records.some((record) => isApexSignature(name, record)))
      return problem('wrong_state', 'the answers of the domain are not signed');
    const shown = isSigned ? records : records.filter((record) => !isOfSigner(name, record));
    answerHeader('Content-Disposition', attachment(`${fileName(name)}${isSigned ? '.signed' : ''}.zone`));
    return new StreamedText(printZoneFileEntries(name, shown));
  },
});

/** Reports whether the record signs the SOA. It is the last signature added when a zone is signed, and the first removed. */
function isApexSignature(apex: Name, { owner, type, rdata }: ZoneRecord): boolean {
  return owner === apex && type === TYPE.RRSIG && coveredType(rdata) === TYPE.SOA;
}

function fileName(name: Parameters<typeof printWithoutDot>[0]): string {
  return printWithoutDot(name).replaceAll(/[^A-Za-z0-9._-]/g, '_');
}

function attachment(file: string): string {
  return `attachment; filename="${file}"`;
}

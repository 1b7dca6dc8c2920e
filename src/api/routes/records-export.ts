// A domain's records as a zone file: as their owner wrote them, or as nameservers serve them.

import { z } from 'zod';
import { printZoneFileEntries } from '../../dns/zone-file/print-zone-file.ts';
import { loadRecordsByName } from '../../store/records/load-touched-records.ts';
import { loadZone } from '../../store/zones/load-zones.ts';
import { printRecords } from '../../zone/import/print-records.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { isMark } from '../../zone/zone.ts';
import { problem } from '../answers/problem.ts';
import { StreamedText } from '../answers/stream-text.ts';
import { domainRoute } from '../calls/route.ts';

export const exportRecords = domainRoute({
  method: 'GET',
  path: '/domains/{domain}/records/export',
  operationId: 'exportRecords',
  tag: 'Records',
  summary: 'The records of a domain as a zone file.',
  description:
    '`origin`: as they were written, with what a zone file cannot say in comments: an import takes all of it back, and ANAME is no type that other servers know. `published`: what nameservers serve, SOA and NS included; a name without records, such as that of an ANAME without addresses, is not in it.',
  permission: 'domain.view',
  query: z.object({ view: z.enum(['origin', 'published']).optional().describe('`origin` unless said.') }),
  textResponse: 'text/dns',
  response: z.string(),
  answerHeaders: ['Content-Disposition'],
  problems: ['wrong_state'],
  async run({ api, domain, query, answerHeader }) {
    const { id, name, served } = domain;
    if (query.view !== 'published') {
      answerHeader('Content-Disposition', attachment(`${fileName(name)}.origin.zone`));
      return new StreamedText(printRecords(name, await loadRecordsByName(api.db, id)));
    }
    const zone = served === 'none' ? undefined : await loadZone(api.db, name);
    if (zone === undefined) return problem('wrong_state', 'nothing of the domain is published');
    answerHeader('Content-Disposition', attachment(`${fileName(name)}.zone`));
    return new StreamedText(
      printZoneFileEntries(
        name,
        zone.records.filter((record) => !isMark(record)),
      ),
    );
  },
});

function fileName(name: Parameters<typeof printWithoutDot>[0]): string {
  return printWithoutDot(name).replaceAll(/[^A-Za-z0-9._-]/g, '_');
}

function attachment(file: string): string {
  return `attachment; filename="${file}"`;
}

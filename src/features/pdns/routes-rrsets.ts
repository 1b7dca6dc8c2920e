// The route that changes record sets of a zone.

import { CompatAnswer } from '../../api/answers/compat-answer.ts';
import { Problem } from '../../api/answers/problem.ts';
import { domain, type Route } from '../../api/calls/route.ts';
import { compatRoute } from '../../api/compat/compat-route.ts';
import { saveChanges } from './changes.ts';
import { readBody } from './rules.ts';
import { MAX_RRSETS, readChanges } from './rules-rrsets.ts';
import { PDNS, ZONE } from './surface.ts';

const patchZone = compatRoute(PDNS, domain('records.edit', { writesRecords: true }), {
  method: 'PATCH',
  path: ZONE,
  operationId: 'pdnsPatchZone',
  audit: 'changes',
  largeBody: true,
  maxItems: MAX_RRSETS,
  async run(call) {
    const members = readBody(call.body);
    if (members instanceof Problem) return members;
    const changes = readChanges(members, call.domain.name);
    if (changes instanceof Problem) return changes;
    const saved = await saveChanges(call, changes);
    if (saved instanceof Problem) return saved;
    return new CompatAnswer(undefined, {
      status: 204,
      headers: { 'X-PDNS-Old-Serial': String(saved.before), 'X-PDNS-New-Serial': String(saved.after) },
    });
  },
});

export const RRSET_ROUTES: readonly Route[] = [patchZone];

// Routes of the primaries of a domain (docs/api.md "Primaries").

import type { z } from 'zod';
import { explainRevert } from '../../api/actions/edit-problem.ts';
import { answerWrite } from '../../api/actions/save-records.ts';
import { invalid, notFound, Problem, problem } from '../../api/answers/problem.ts';
import { asActor } from '../../api/callers/caller.ts';
import { domain, route } from '../../api/calls/route.ts';
import { Message } from '../../api/schemas/fields.ts';
import { refusedAddress } from '../transfers/rules.ts';
import { PEER_NETWORKS } from '../transfers/services.ts';
import { describePrimaries } from './print.ts';
import { EndedCopy, NewPrimaries, Primaries } from './schema.ts';
import {
  type CopiedDomain,
  endCopy,
  loadCopiedDomain,
  orderRetransfer,
  replacePrimaries,
} from './sql-domain.ts';

const tag = 'Zone transfers';
const path = '/domains/{domain}/primaries';
const NO_COPY = 'the domain has no primaries';

const getPrimaries = route(domain('domain.settings', { whileDisabled: true, wholeKeys: true }), {
  method: 'GET',
  path,
  operationId: 'getPrimaries',
  tag,
  summary: 'The primaries from which the zone of the domain is copied, and the state of the copy.',
  response: Primaries,
  run: async ({ api, domain }) => print(await loadCopiedDomain(api.db, domain.id)),
});

const putPrimaries = route(domain('domain.settings'), {
  method: 'PUT',
  path,
  operationId: 'putPrimaries',
  audit: 'primaries.edit',
  tag,
  summary: 'Copies the zone of the domain from primaries, or replaces its primaries.',
  description:
    'While the domain is answered whole (`served: full`), its zone is the one of the primaries, with all records, their serial and signatures. Until the first transfer, it is answered as before. Records cannot be written then (409 `domain_secondary`). Addresses must be public. Only domains in managed mode without DNSSEC can be copies.',
  body: NewPrimaries,
  response: Primaries,
  conflicts: true,
  problems: ['address_refused', 'wrong_state'],
  async run({ api, domain, body, audit }) {
    const allowed = api.services.get(PEER_NETWORKS) ?? [];
    const addresses = body.primaries.map(({ address }) => address);
    const refused = refusedAddress(addresses, allowed);
    if (refused !== undefined) return problem('address_refused', `${refused} is not a public address`);
    const wanted = body.primaries.map(({ tsig_key: keyId, ...rest }) => ({ ...rest, keyId }));
    const before = await loadCopiedDomain(api.db, domain.id);
    const replaced = await replacePrimaries(api.db, domain, wanted);
    if (replaced.kind === 'absent') return notFound('domain');
    if (replaced.kind === 'external')
      return problem(
        'wrong_state',
        'the domain is in external mode: only domains in managed mode can be copies',
      );
    if (replaced.kind === 'signed')
      return new Problem(
        409,
        'DNSSEC is enabled for the domain: disable it first, because a copy has the signatures of its primary',
      );
    if (replaced.kind === 'unknown_key') {
      const field = `primaries[${replaced.index}].tsig_key`;
      return invalid([{ field, error: "expected a key that the domain's owner imported" }]);
    }
    const after = await loadCopiedDomain(api.db, domain.id);
    audit({ before: describePrimaries(before), after: describePrimaries(after) });
    return print(after);
  },
});

const deletePrimaries = route(domain('domain.settings'), {
  method: 'DELETE',
  path,
  operationId: 'deletePrimaries',
  audit: 'primaries.edit',
  tag,
  summary: 'Ends the copy: its records become those of the domain.',
  description:
    "Records of types that a domain here cannot have, such as signatures, are dropped, and so are those that the rules of an import refuse. The domain's former records, which were not served, are deleted. If the zone has not been transferred yet, the domain keeps its former records.",
  response: EndedCopy,
  answerHeaders: ['X-Change-Id', 'X-Zone-Serial'],
  problems: ['wrong_state', 'plan_limit'],
  async run(call) {
    const { api, caller, domain, answerHeader, audit } = call;
    const before = await loadCopiedDomain(api.db, domain.id);
    const ended = await endCopy(api.db, domain, { by: asActor(caller), source: 'api' });
    if (ended.kind === 'absent') return notFound('domain');
    if (ended.kind === 'no_copy') return problem('wrong_state', NO_COPY);
    if (ended.kind === 'refused') return answerWrite(call, ended.saved, explainRevert) as Problem;
    audit({ before: describePrimaries(before), after: describePrimaries({ primaries: [] }) });
    answerHeader('X-Change-Id', ended.changeId);
    answerHeader('X-Zone-Serial', ended.serial);
    return { records: ended.kept, dropped: ended.dropped, serial: ended.serial };
  },
});

const retransfer = route(domain('domain.settings'), {
  method: 'POST',
  path: '/domains/{domain}/retransfer',
  operationId: 'retransferDomain',
  audit: 'primaries.retransfer',
  tag,
  summary: 'Transfers the whole zone again, whatever the serial of the primary.',
  description: 'The transfer starts within a second. At most 6 calls per hour.',
  response: Message,
  problems: ['wrong_state'],
  async run({ api, domain, audit }) {
    const ordered = await orderRetransfer(api.db, domain.id);
    if (ordered.kind === 'no_copy') return problem('wrong_state', NO_COPY);
    if (ordered.kind === 'limited')
      return new Problem(429, 'rate limit exceeded', {
        headers: { 'Retry-After': String(ordered.retrySeconds) },
      });
    audit();
    return { message: 'the transfer is ordered' };
  },
});

export const PRIMARY_ROUTES = [getPrimaries, putPrimaries, deletePrimaries, retransfer];

function print({ primaries, copy }: CopiedDomain): z.input<typeof Primaries> {
  return {
    primaries: primaries.map(({ id, address, port, keyId }) => ({ id, address, port, tsig_key: keyId })),
    state: copy?.state ?? null,
    serial: copy?.serial ?? null,
    form: copy?.form ?? null,
    transferred_at: copy?.transferredAt?.toISOString() ?? null,
    refreshed_at: copy?.refreshedAt?.toISOString() ?? null,
    next_refresh_at: copy?.dueAt.toISOString() ?? null,
    expires_at: copy?.expiresAt?.toISOString() ?? null,
    last_error: copy?.lastError ?? null,
    message: copy?.lastMessage ?? null,
  };
}

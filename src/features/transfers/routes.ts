// Routes of TSIG keys, and of the secondaries of a domain (docs/api.md "Secondaries").

import { z } from 'zod';
import { invalid, notFound, Problem, problem } from '../../api/answers/problem.ts';
import { account, domain, route } from '../../api/calls/route.ts';
import { idText, Message } from '../../api/schemas/fields.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { createKey, importKey, listKeys, loadKey, MOST_KEYS, revokeKey } from '../../store/transfers/keys.ts';
import { listSecondaries, replaceSecondaries, type StoredSecondary } from '../../store/transfers/peers.ts';
import { loadTransfers } from '../../store/transfers/status.ts';
import { keyNote, printKeyRow, printSecondary, printTransfers, toldSecondaries } from './print.ts';
import { refusedAddress } from './rules.ts';
import { NewSecondaries, NewTsigKey, Secondaries, Transfers, TsigKey } from './schema.ts';
import { PEER_NETWORKS, TSIG_SECRETS } from './services.ts';

const tag = 'Zone transfers';
const keysPath = '/tsig-keys/';

const listTsigKeys = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: keysPath,
  operationId: 'listTsigKeys',
  tag,
  summary: 'Your TSIG keys, newest first, without their secrets.',
  response: z.array(TsigKey),
  async run({ api, caller }) {
    const keys = await listKeys(api.db, caller.account.id);
    return keys.filter(({ revokedAt }) => revokedAt === null).map(printKeyRow);
  },
});

const createTsigKey = route(account(), {
  method: 'POST',
  path: keysPath,
  operationId: 'createTsigKey',
  audit: 'tsig.create',
  tag,
  summary: 'Creates a TSIG key, or imports the key of a primary.',
  description: `With \`label\`, the key gets a unique name and a random secret, which only this response contains; a repeat with an Idempotency-Key returns the response without it. With \`name\` and \`secret\`, the key of a primary is imported. An account has at most ${MOST_KEYS} keys.`,
  body: NewTsigKey,
  response: TsigKey,
  withoutSecrets: ({ secret: _, ...rest }) => rest,
  conflicts: true,
  problems: ['tsig_unavailable'],
  async run({ api, caller, body, audit }) {
    const { label, name, secret, algorithm } = body;
    const secrets = api.services.get(TSIG_SECRETS) ?? [];
    const accountId = caller.account.id;
    const isImport = name !== undefined && secret !== undefined;
    if ((label !== undefined) === isImport || (!isImport && (name ?? secret) !== undefined))
      return invalid([{ field: 'label', error: 'expected either `label`, or `name` and `secret`' }]);
    const stored = isImport
      ? await importKey(api.db, secrets, { accountId, name, algorithm, secret })
      : await createKey(api.db, secrets, { accountId, label: label ?? '', algorithm });
    if (stored.kind === 'full')
      return new Problem(409, `an account may have ${MOST_KEYS} TSIG keys; delete one first`);
    if (stored.kind === 'exists') return new Problem(409, 'a key with this name exists');
    if (stored.kind === 'unavailable')
      return problem('tsig_unavailable', 'TSIG keys cannot be stored: TSIG_SECRETS is missing or wrong');
    audit(keyNote(stored.key, 'after'));
    const shown = isImport ? {} : { secret: Buffer.from(stored.secret).toString('base64') };
    return { ...printKeyRow(stored.key), ...shown };
  },
});

const deleteTsigKey = route(account(), {
  method: 'DELETE',
  path: `${keysPath}{id}`,
  operationId: 'deleteTsigKey',
  audit: 'tsig.revoke',
  tag,
  summary: 'Revokes a TSIG key permanently.',
  description:
    'Nameservers apply this within 5 seconds. A key that a secondary, a primary or an update grant uses is not revoked.',
  params: z.object({ id: idText }),
  finds: 'TSIG key',
  find: ({ api, caller, params: { id } }) => loadKey(api.db, caller.account.id, { id }),
  response: Message,
  problems: ['tsig_key_in_use'],
  async run({ api, caller, found, audit }) {
    const revoked = await revokeKey(api.db, caller.account.id, found.id);
    if (revoked.kind === 'absent') return notFound('TSIG key');
    if (revoked.kind === 'in_use')
      return problem(
        'tsig_key_in_use',
        'a secondary, a primary or an update grant of a domain uses this key',
      );
    audit(keyNote(revoked.key, 'before'));
    return { message: 'TSIG key revoked' };
  },
});

const path = '/domains/{domain}/secondaries';
const readWhole = domain('domain.settings', { whileDisabled: true, wholeKeys: true });

const getSecondaries = route(readWhole, {
  method: 'GET',
  path,
  operationId: 'getSecondaries',
  tag,
  summary: "The domain's own secondaries at other operators.",
  response: Secondaries,
  run: async ({ api, domain }) => print(await listSecondaries(api.db, domain.id)),
});

const putSecondaries = route(domain('domain.settings'), {
  method: 'PUT',
  path,
  operationId: 'putSecondaries',
  audit: 'secondaries.edit',
  tag,
  summary: "Replaces the domain's own secondaries.",
  description:
    'A secondary transfers the zone (AXFR, IXFR) from the nameservers of this service, and receives NOTIFY after each change. Addresses must be public. A secondary with `networks` must send from one of them, and one with a `tsig_key` must sign with it. Nameservers apply the change within 5 seconds.',
  body: NewSecondaries,
  response: Secondaries,
  problems: ['address_refused'],
  async run({ api, domain, body, audit }) {
    const allowed = api.services.get(PEER_NETWORKS) ?? [];
    const refused = refusedAddress(
      body.secondaries.flatMap(({ addresses }) => addresses),
      allowed,
    );
    if (refused !== undefined) return problem('address_refused', `${refused} is not a public address`);
    const wanted = body.secondaries.map(({ tsig_key, transfer, notify, ...rest }) => ({
      ...rest,
      keyId: tsig_key,
      transfers: transfer,
      notified: notify,
    }));
    const before = await listSecondaries(api.db, domain.id);
    const replaced = await replaceSecondaries(api.db, domain, wanted);
    if (replaced.kind === 'absent') return notFound('domain');
    if (replaced.kind === 'unknown_key') {
      const field = `secondaries[${replaced.index}].tsig_key`;
      return invalid([{ field, error: "expected a key that the domain's owner created" }]);
    }
    const after = await listSecondaries(api.db, domain.id);
    audit({ before: toldSecondaries(before), after: toldSecondaries(after) });
    return print(after);
  },
});

const getTransfers = route(readWhole, {
  method: 'GET',
  path: '/domains/{domain}/transfers',
  operationId: 'getTransfers',
  tag,
  summary: "What the domain's own secondaries have transferred.",
  description: 'Nameservers report every 10 seconds.',
  response: Transfers,
  async run({ api, domain }) {
    const [zone] = await loadTransfers(api.db, [encodeNameColumn(domain.name)]);
    const own = (zone?.peers ?? []).filter(({ name }) => name === null);
    return {
      serial: zone?.serial ?? null,
      secondaries: own.map((peer) => ({
        id: peer.id,
        addresses: [...peer.addresses],
        ...printTransfers(peer),
      })),
    };
  },
});

export const TRANSFER_ROUTES = [
  listTsigKeys,
  createTsigKey,
  deleteTsigKey,
  getSecondaries,
  putSecondaries,
  getTransfers,
];

function print(secondaries: readonly StoredSecondary[]): z.input<typeof Secondaries> {
  return { secondaries: secondaries.map(printSecondary) };
}

// Routes for the TSIG keys of the account, and for the DNSSEC keys of a zone, which the service manages.

import { z } from 'zod';
import { CompatAnswer } from '../../api/answers/compat-answer.ts';
import { notFound, Problem, problem } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { account, domain, type Route } from '../../api/calls/route.ts';
import { compatRoute } from '../../api/compat/compat-route.ts';
import { loadToldDnssec } from '../../store/dnssec/dnssec-state.ts';
import {
  createKey,
  importKey,
  listKeys,
  MOST_KEYS,
  revokeKey,
  TSIG_ALGORITHMS,
  type TsigKeyRow,
} from '../../store/transfers/keys.ts';
import { keyNote } from '../transfers/print.ts';
import {
  KEY_LABEL,
  readKeyName,
  readSecret,
  SECRET_CHARACTERS,
  WRONG_LABEL,
  WRONG_SECRET,
} from '../transfers/rules.ts';
import { TSIG_SECRETS } from '../transfers/services.ts';
import { printCryptokeys, SERVER } from './print.ts';
import { judgeTypes, readBody, refuse, textIn } from './rules.ts';
import { findKey, MAX_KEY_CHARACTERS } from './secondaries.ts';
import { NO_CONTENT, PDNS, ZONE } from './surface.ts';

const TSIG_KEYS = `${SERVER}/tsigkeys`;
const OWN_KEY = { path: `${TSIG_KEYS}/{id}`, params: z.object({ id: z.string().max(MAX_KEY_CHARACTERS) }) };

/** Prints a key. The response to its creation is the only one with the secret. */
function printKey({ name, algorithm }: Pick<TsigKeyRow, 'name' | 'algorithm'>, secret?: Uint8Array): object {
  const key = secret === undefined ? '' : Buffer.from(secret).toString('base64');
  return { type: 'TSIGKey', id: name, name: name.slice(0, -1), algorithm, key };
}

const listTsigKeys = compatRoute(PDNS, account({ wholeKeys: true }), {
  method: 'GET',
  path: TSIG_KEYS,
  operationId: 'pdnsListTsigKeys',
  async run({ api, caller }) {
    const keys = await listKeys(api.db, caller.account.id);
    return CompatAnswer.json(keys.filter(({ revokedAt }) => revokedAt === null).map((key) => printKey(key)));
  },
});

const getTsigKey = compatRoute(PDNS, account({ wholeKeys: true }), {
  ...OWN_KEY,
  method: 'GET',
  operationId: 'pdnsGetTsigKey',
  async run(call) {
    const key = await findOwnKey(call);
    return key instanceof Problem ? key : CompatAnswer.json(printKey(key));
  },
});

type KeyCall = CallOf<'account', Readonly<Record<string, string>>>;

async function findOwnKey({ api, caller, params }: KeyCall): Promise<TsigKeyRow | Problem> {
  const id = String(params.id);
  const key = await findKey(api.db, caller.account.id, id);
  return key ?? new Problem(404, `TSIG key with name '${id.replace(/\.$/, '')}' not found`);
}

const createTsigKey = compatRoute(PDNS, account(), {
  method: 'POST',
  path: TSIG_KEYS,
  operationId: 'pdnsCreateTsigKey',
  audit: 'tsig.create',
  async run({ api, caller, body, audit }) {
    const members = readBody(body);
    if (members instanceof Problem) return members;
    const [name, algorithmText] = [textIn(members, 'name'), textIn(members, 'algorithm')];
    if (name instanceof Problem) return name;
    if (algorithmText instanceof Problem) return algorithmText;
    const algorithm = TSIG_ALGORITHMS.find((each) => each === algorithmText.toLowerCase());
    if (algorithm === undefined)
      return new Problem(400, `Invalid TSIG algorithm: ${algorithmText.slice(0, 50)}`);
    const wrongType = judgeTypes(members, 'String', ['key']);
    if (wrongType !== undefined) return wrongType;
    const wanted = { accountId: caller.account.id, name, algorithm, key: members.key };
    const stored = await storeKey(api.db, api.services.get(TSIG_SECRETS) ?? [], wanted);
    if (stored instanceof Problem) return stored;
    if (stored.kind === 'full') return refuse(`an account may have ${MOST_KEYS} TSIG keys; delete one first`);
    if (stored.kind === 'exists')
      return new Problem(
        409,
        `A TSIG key with the name '${name.slice(0, MAX_KEY_CHARACTERS)}' already exists`,
      );
    if (stored.kind === 'unavailable')
      return problem('tsig_unavailable', 'TSIG keys cannot be stored: TSIG_SECRETS is missing or wrong');
    audit(keyNote(stored.key, 'after'));
    return CompatAnswer.json(printKey(stored.key, stored.secret), { status: 201 });
  },
});

interface WantedKey {
  readonly accountId: number;
  readonly name: string;
  readonly algorithm: (typeof TSIG_ALGORITHMS)[number];
  /** The secret in base64. If it is empty, the key gets a random secret, and a unique name that begins with `name`. */
  readonly key: unknown;
}

async function storeKey(
  db: Parameters<typeof createKey>[0],
  secrets: Parameters<typeof createKey>[1],
  { name: text, key, ...common }: WantedKey,
) {
  if (typeof key !== 'string' || key === '') {
    const label = text.replace(/\.$/, '').toLowerCase();
    if (!KEY_LABEL.test(label)) return refuse(`name: ${WRONG_LABEL}`);
    return await createKey(db, secrets, { ...common, label });
  }
  const secret = key.length > SECRET_CHARACTERS ? undefined : readSecret(key);
  if (secret === undefined) return refuse(`TSIG content: ${WRONG_SECRET}`);
  const name = text.length > MAX_KEY_CHARACTERS ? undefined : readKeyName(text);
  if (name === undefined) return refuse('name: expected a domain name');
  return await importKey(db, secrets, { ...common, name, secret });
}

const updateTsigKey = compatRoute(PDNS, account(), {
  ...OWN_KEY,
  method: 'PUT',
  operationId: 'pdnsUpdateTsigKey',
  audit: { none: 'it is always refused' },
  async run(call) {
    const key = await findOwnKey(call);
    return key instanceof Problem
      ? key
      : refuse('a TSIG key cannot be changed: delete it, and create another');
  },
});

const deleteTsigKey = compatRoute(PDNS, account(), {
  ...OWN_KEY,
  method: 'DELETE',
  operationId: 'pdnsDeleteTsigKey',
  audit: 'tsig.revoke',
  async run(call) {
    const key = await findOwnKey(call);
    if (key instanceof Problem) return key;
    const revoked = await revokeKey(call.api.db, call.caller.account.id, key.id);
    if (revoked.kind === 'absent') return notFound('TSIG key');
    if (revoked.kind === 'in_use')
      return refuse('a secondary, a primary or an update grant of a zone uses this key');
    call.audit(keyNote(revoked.key, 'before'));
    return NO_CONTENT;
  },
});

const CRYPTOKEYS = `${ZONE}/cryptokeys`;
const ONE_KEY = { path: `${CRYPTOKEYS}/{id}`, params: z.object({ id: z.string().max(20) }) };
const MANAGED = 'keys are managed here: PUT the zone with "dnssec": true or false';

const listCryptokeys = compatRoute(PDNS, domain('domain.view'), {
  method: 'GET',
  path: CRYPTOKEYS,
  operationId: 'pdnsListCryptokeys',
  run: async ({ api, domain: zone }) =>
    CompatAnswer.json(printCryptokeys(zone.name, await loadToldDnssec(api.db, zone.id))),
});

const getCryptokey = compatRoute(PDNS, domain('domain.view'), {
  ...ONE_KEY,
  method: 'GET',
  operationId: 'pdnsGetCryptokey',
  async run({ api, domain: zone, params }) {
    const keys = printCryptokeys(zone.name, await loadToldDnssec(api.db, zone.id));
    const key = keys.find(({ id }) => String(id) === params.id);
    return key === undefined ? new Problem(404, 'key not found') : CompatAnswer.json(key);
  },
});

function refusedKeys(method: 'POST' | 'PUT' | 'DELETE', operationId: string): Route {
  return compatRoute(PDNS, domain('domain.settings'), {
    ...(method === 'POST' ? { path: CRYPTOKEYS } : ONE_KEY),
    method,
    operationId,
    audit: { none: 'it is always refused' },
    run: () => refuse(MANAGED),
  });
}

export const KEY_ROUTES: readonly Route[] = [
  listTsigKeys,
  getTsigKey,
  createTsigKey,
  updateTsigKey,
  deleteTsigKey,
  listCryptokeys,
  getCryptokey,
  refusedKeys('POST', 'pdnsCreateCryptokey'),
  refusedKeys('PUT', 'pdnsUpdateCryptokey'),
  refusedKeys('DELETE', 'pdnsDeleteCryptokey'),
];

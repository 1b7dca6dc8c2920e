// /users/me/keys: lists, creates and revokes the API keys of an account. A key is shown only once, when it is created.

import { z } from 'zod';
import {
  type ApiKey,
  createApiKey,
  generateKey,
  listOwnKeys,
  revokeOwnKey,
} from '../../../store/accounts/api-keys.ts';
import { keyNote } from '../../../store/audit/audit-notes.ts';
import { lockCredentials } from '../../../store/people/credentials.ts';
import { readKeyScope } from '../../../zone/edit/read-key-scope.ts';
import { invalid, notFound, Problem, problem } from '../../answers/problem.ts';
import { type Route, route, session } from '../../calls/route.ts';
import { printKey } from '../../print/print-account.ts';
import { idText, Message } from '../../schemas/fields.ts';
import { Key, NewKey } from '../../schemas/people.ts';

/** Maximum number of keys that are not revoked. */
const MAX_KEYS = 100;

const listKeys = route(session(), {
  method: 'GET',
  path: '/users/me/keys',
  operationId: 'listKeys',
  tag: 'Your account',
  summary: 'Lists your API keys that are not revoked, newest first.',
  response: z.array(Key),
  run: async ({ api, caller }) => (await listOwnKeys(api.db, caller.account.id)).map(printKey),
});

const createKey = route(session({ fresh: true }), {
  method: 'POST',
  path: '/users/me/keys',
  operationId: 'createKey',
  audit: 'key.create',
  tag: 'Your account',
  summary: 'Creates an API key.',
  description:
    'The key is shown only in this response. A repeated call with the same Idempotency-Key returns the response without the key. A key that is restricted to names or types may write only these records.',
  body: NewKey,
  response: Key,
  withoutSecrets: ({ key: _, ...rest }) => rest,
  conflicts: true,
  async run({ api, caller, body, audit }) {
    const { domains, names, types } = body;
    const read = readKeyScope({ domains, names, types });
    if (read.kind === 'problem')
      return invalid([{ field: `${read.field}[${read.index}]`, error: read.message }]);
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at);
    if (expiresAt !== null && expiresAt.getTime() <= Date.now())
      return invalid([{ field: 'expires_at', error: 'must be in the future' }]);
    // A key that is created while the account is locked would outlive `lockOut`.
    const who = await lockCredentials(api.db, { accountId: caller.account.id });
    if (who?.account.active !== true) return problem('account_suspended', 'account is inactive');
    if ((await listOwnKeys(api.db, caller.account.id)).length >= MAX_KEYS)
      return new Problem(409, `an account may have at most ${MAX_KEYS} keys; revoke one first`);
    const text = generateKey();
    const made = (await createApiKey(api.db, text, {
      accountId: caller.account.id,
      name: body.name,
      readOnly: body.read_only,
      expiresAt,
      ...read.scope,
    })) as ApiKey;
    audit(keyNote(made, 'after'));
    return { ...printKey(made), key: text };
  },
});

const revokeKey = route(session({ fresh: true }), {
  method: 'DELETE',
  path: '/users/me/keys/{id}',
  operationId: 'revokeKey',
  audit: 'key.revoke',
  tag: 'Your account',
  summary: 'Revokes an API key immediately and permanently.',
  params: z.object({ id: idText }),
  response: Message,
  async run({ api, caller, params, audit }) {
    const revoked = await revokeOwnKey(api.db, caller.account.id, params.id);
    if (revoked === undefined) return notFound('key');
    audit(keyNote(revoked, 'before'));
    return { message: 'the key was revoked' };
  },
});

export const KEY_ROUTES: readonly Route[] = [listKeys, createKey, revokeKey];

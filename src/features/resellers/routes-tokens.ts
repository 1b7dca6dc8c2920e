// Routes of machine tokens.

import { z } from 'zod';
import { invalid, notFound, Problem } from '../../api/answers/problem.ts';
import { reseller, route } from '../../api/calls/route.ts';
import { idText, Message } from '../../api/schemas/fields.ts';
import {
  listTokens,
  mintToken,
  revokeToken,
  type ResellerToken as StoredToken,
} from '../../store/accounts/reseller-tokens.ts';
import { tokenNote } from '../../store/audit/audit-notes.ts';
import { NewResellerToken, ResellerToken } from './schema.ts';

const tag = 'Reseller';
/** Maximum number of tokens that are not revoked. */
const MOST_TOKENS = 100;

const listOwnTokens = route(reseller({ sessions: true }), {
  method: 'GET',
  path: '/reseller/v1/tokens',
  operationId: 'listResellerTokens',
  tag,
  summary: 'Your machine tokens, newest first.',
  description: 'Of the revoked tokens, the last 100 are kept.',
  response: z.array(ResellerToken),
  run: async ({ api, caller }) => (await listTokens(api.db, caller.account.id)).map(printToken),
});

const mint = route(reseller({ sessions: true, fresh: true }), {
  method: 'POST',
  path: '/reseller/v1/tokens',
  operationId: 'mintResellerToken',
  audit: 'token.create',
  tag,
  summary: 'Creates a machine token.',
  description:
    'Only this response contains the token; a repeat with an Idempotency-Key returns the response without it. A token may do everything on this surface that a session may do, except manage tokens.',
  body: NewResellerToken,
  response: ResellerToken,
  withoutSecrets: ({ token: _, ...rest }) => rest,
  conflicts: true,
  async run({ api, caller, body, audit }) {
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at);
    if (expiresAt !== null && expiresAt.getTime() <= Date.now())
      return invalid([{ field: 'expires_at', error: 'must be in the future' }]);
    const wanted = { accountId: caller.account.id, name: body.name, expiresAt };
    const minted = await mintToken(api.db, wanted, MOST_TOKENS);
    if (minted === undefined)
      return new Problem(409, `a reseller may have ${MOST_TOKENS} tokens; revoke one first`);
    audit(tokenNote(minted.token, 'after'));
    return { ...printToken(minted.token), token: minted.text };
  },
});

const revoke = route(reseller({ sessions: true, fresh: true }), {
  method: 'DELETE',
  path: '/reseller/v1/tokens/{id}',
  operationId: 'revokeResellerToken',
  audit: 'token.revoke',
  tag,
  summary: 'Revokes a machine token immediately and permanently.',
  params: z.object({ id: idText }),
  response: Message,
  async run({ api, caller, params, audit }) {
    const revoked = await revokeToken(api.db, caller.account.id, params.id);
    if (revoked === undefined) return notFound('token');
    audit(tokenNote(revoked, 'before'));
    return { message: 'the token is revoked' };
  },
});

export const TOKEN_ROUTES = [listOwnTokens, mint, revoke];

function printToken({
  id,
  name,
  keyId,
  expiresAt,
  revokedAt,
  lastUsedAt,
  createdAt,
}: StoredToken): z.input<typeof ResellerToken> {
  return {
    id,
    name,
    key_id: keyId,
    status: revokedAt === null ? 'active' : 'revoked',
    expires_at: expiresAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
    created_at: createdAt.toISOString(),
  };
}

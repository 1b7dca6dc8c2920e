// /admin/accounts/{id}/links and /keys: creates sign-in links for owners who cannot sign in, lists and revokes API keys.

import { z } from 'zod';
import { linkTo } from '../../../process/public-link.ts';
import { listApiKeys, revokeOwnKey } from '../../../store/accounts/api-keys.ts';
import { keyNote } from '../../../store/audit/told-fields.ts';
import { LINK_MINUTES, makeLink } from '../../../store/people/account-links.ts';
import { notFound, problem } from '../../answers/problem.ts';
import { admin, route } from '../../calls/route.ts';
import { printKey } from '../../print/print-key.ts';
import { AccountLink, LinkOrder } from '../../schemas/admin/account.ts';
import { idText } from '../../schemas/ids.ts';
import { Key } from '../../schemas/key.ts';
import { Message } from '../../schemas/message.ts';
import { oneAccount } from './accounts.ts';

const tag = 'Accounts';

export const makeAccountLink = route(admin, {
  method: 'POST',
  path: '/admin/accounts/{id}/links',
  operationId: 'adminMakeLink',
  tag,
  summary: 'Make a link that works once, for the owner of an account.',
  description:
    'Whoever opens it is in that account: hand it to its owner only. With an Idempotency-Key a repeat gets the answer without the link.',
  audit: 'account.link',
  ...oneAccount,
  body: LinkOrder,
  response: AccountLink,
  withoutSecrets: ({ link: _, ...rest }) => rest,
  problems: ['wrong_state'],
  async run({ api, people, found, body: { kind }, audit }) {
    const { id: accountId, email, active } = found;
    if (!active) return problem('wrong_state', 'the account is inactive: activate it first');
    const token = await makeLink(api.db, { kind, accountId });
    audit({ accountId, target: { name: email }, after: { kind } });
    return { kind, expires_in_minutes: LINK_MINUTES[kind], link: linkTo(people.publicUrl, kind, token) };
  },
});

export const listAccountKeys = route(admin, {
  method: 'GET',
  path: '/admin/accounts/{id}/keys',
  operationId: 'adminListKeys',
  tag,
  summary: 'The API keys of an account, revoked ones too.',
  ...oneAccount,
  response: z.array(Key.extend({ revoked_at: z.string().optional() }).meta({ id: 'AdminKey' })),
  async run({ api, found }) {
    const keys = await listApiKeys(api.db, found.id);
    return keys.map((key) => ({
      ...printKey(key),
      ...(key.revokedAt !== null && { revoked_at: key.revokedAt.toISOString() }),
    }));
  },
});

export const revokeAccountKey = route(admin, {
  method: 'DELETE',
  path: '/admin/accounts/{id}/keys/{key}',
  operationId: 'adminRevokeKey',
  tag,
  summary: 'Revoke an API key of an account immediately and permanently.',
  audit: 'key.revoke',
  ...oneAccount,
  params: z.object({ id: idText, key: idText }),
  response: Message,
  async run({ api, found, params, audit }) {
    const revoked = await revokeOwnKey(api.db, found.id, params.key);
    if (revoked === undefined) return notFound('key');
    audit(keyNote(revoked, 'before'));
    return { message: 'the key is revoked' };
  },
});

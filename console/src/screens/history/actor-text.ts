// Describes who made a change.

import { history } from '../../words/history.ts';
import type { NameOf } from './member-names.ts';

interface Actor {
  readonly kind: string;
  readonly user_id?: number;
  readonly key_id?: number;
}

/** `me` is the signed-in account. */
export function actorText({ kind, user_id, key_id }: Actor, me: number, nameOf: NameOf): string {
  const say = history;
  const name = user_id === undefined ? undefined : nameOf(user_id);
  const who = user_id === me ? say.you : (name ?? say.account(user_id));
  switch (kind) {
    case 'session':
      return user_id === undefined ? say.somebody : who;
    case 'key':
      return say.byKey(user_id === undefined ? undefined : who, key_id);
    case 'token':
      return say.byToken;
    case 'tsig':
      return say.byTsigKey(user_id === undefined ? undefined : who);
    case 'cli':
      return say.byOperator;
    default:
      return say.byService;
  }
}

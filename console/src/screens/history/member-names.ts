// Names of the members of a domain. Former members and the operator have no name here.

import { api, dataOf } from '../../api/client.ts';
import { useLoad } from '../../api/use-load.ts';

/** Returns the name of an account, or its email. */
export type NameOf = (account: number) => string | undefined;

export function useMemberNames(domain: string): NameOf {
  const { data = [] } = useLoad(`members ${domain}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/members', { params: { path: { domain } }, signal })),
  );
  const names = new Map(data.map(({ user_id, name, email }) => [user_id, name ?? email]));
  return (account) => names.get(account);
}

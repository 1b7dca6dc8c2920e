// Finds the domain of the account that contains a name, if there are too many domains to list.

import { ApiError } from '../../api/api-error.ts';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { account } from '../../words/account.ts';
import { domainCandidates } from './certificate-names.ts';

/** Throws if the name is not in a domain of the account. */
export async function findDomain(name: string): Promise<Schemas['Domain']> {
  for (const candidate of domainCandidates(name)) {
    try {
      return await dataOf(api.GET('/domains/{domain}', { params: { path: { domain: candidate } } }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
  }
  throw new ApiError(422, { error: account.keys.acme.noDomain(name) });
}

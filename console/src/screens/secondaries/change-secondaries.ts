// Adds or removes one secondary. The API replaces the whole list, so the current one is loaded first.

import { api, dataOf, type Schemas } from '../../api/client.ts';
import type { Secondary } from './secondary-wish.ts';

type NewSecondary = Schemas['NewSecondary'];

export async function changeSecondaries(
  domain: string,
  change: (before: readonly Secondary[]) => readonly (NewSecondary | Secondary)[],
): Promise<void> {
  const params = { path: { domain } };
  const { secondaries } = await dataOf(api.GET('/domains/{domain}/secondaries', { params }));
  await api.PUT('/domains/{domain}/secondaries', {
    params,
    body: { secondaries: change(secondaries).map(withoutId) },
  });
}

function withoutId({ id: _, ...rest }: NewSecondary & { readonly id?: number }): NewSecondary {
  return rest;
}

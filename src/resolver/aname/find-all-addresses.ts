// Finds the addresses of all names in a list, such as the names of our own servers.

import type { TargetEvidence } from '../../checks/aname/target-evidence.ts';
import type { Name } from '../../dns/name.ts';

/** Maximum number of names. Server sets share their names, so there are not many. */
const MAX_NAMES = 400;
const AT_ONCE = 8;

/** Returns undefined if the addresses of one name are not known, because then no address can be ruled out. */
export async function findAllAddresses(
  names: Iterable<Name>,
  observe: (name: Name) => Promise<Pick<TargetEvidence, 'v4' | 'v6'>>,
): Promise<ReadonlySet<string> | undefined> {
  const left = [...new Set(names)];
  if (left.length > MAX_NAMES) return undefined;
  const found = new Set<string>();
  let isWhole = true;
  const work = async () => {
    for (let name = left.pop(); name !== undefined && isWhole; name = left.pop()) {
      const { v4, v6 } = await observe(name);
      for (const family of [v4, v6]) {
        if (family.kind === 'failed') isWhole = false;
        if (family.kind === 'found') for (const address of family.addresses) found.add(address);
      }
      if (v4.kind === 'none' && v6.kind === 'none') isWhole = false;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return isWhole && found.size > 0 ? found : undefined;
}

// The words behind `npm start --`.

import { StartFault } from '../process/start-fault.ts';

/** Throws StartFault, which names the first word that is not known. */
export function readArguments(words: readonly string[]): { readonly isDemo: boolean } {
  const unknown = words.find((word) => word !== '--demo');
  if (unknown !== undefined)
    throw new StartFault(`"${unknown}" is no argument of npm start: there is --demo (npm start -- --demo)`);
  return { isDemo: words.length > 0 };
}

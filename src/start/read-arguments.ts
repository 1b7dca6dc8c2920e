// Reads the arguments after `npm start --`.

import { StartFault } from '../process/start-fault.ts';

/** Throws StartFault, which names the first unknown argument. */
export function readArguments(words: readonly string[]): { readonly isDemo: boolean } {
  const unknown = words.find((word) => word !== '--demo');
  if (unknown !== undefined)
    throw new StartFault(
      `unknown argument "${unknown}": npm start accepts only --demo (npm start -- --demo)`,
    );
  return { isDemo: words.length > 0 };
}

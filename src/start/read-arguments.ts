// Reads the arguments after `npm start --`.

import { StartFault } from '../process/start-fault.ts';

export interface Arguments {
  readonly isDemo: boolean;
  /** True if the embedded analytics store is requested. */
  readonly hasAnalytics: boolean;
}

/** Throws StartFault, which names the first unknown argument, or one that npm took for itself. */
export function readArguments(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Arguments {
  const taken = ['demo', 'analytics'].find((name) => env[`npm_config_${name}`] !== undefined);
  if (taken !== undefined)
    throw new StartFault(`npm took --${taken} for itself: use npm start -- --${taken}`);
  const unknown = words.find((word) => word !== '--demo' && word !== '--analytics');
  if (unknown !== undefined)
    throw new StartFault(
      `unknown argument "${unknown}": npm start accepts only --demo and --analytics (npm start -- --demo)`,
    );
  return { isDemo: words.includes('--demo'), hasAnalytics: words.includes('--analytics') };
}

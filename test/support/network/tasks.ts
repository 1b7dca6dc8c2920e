// The tasks of agents.

import { comparePaths } from './compare-paths.ts';

export const TASKS = { comparePaths };

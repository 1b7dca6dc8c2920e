// The texts of secondary zones, which are loaded with their pages.

import * as english from './en/secondaries.ts';
import { persian } from './persian.ts';

export const secondaries: typeof english.secondaries = persian?.secondaries ?? english.secondaries;

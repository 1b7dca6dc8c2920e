// The texts of plans, which are loaded with their pages.

import * as english from './en/plan.ts';
import { persian } from './persian.ts';

export const plan: typeof english.plan = persian?.plan ?? english.plan;

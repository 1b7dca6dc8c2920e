// The texts of the delegation and the public check, which are loaded with their pages.

import * as english from './en/delegation.ts';
import { persian } from './persian.ts';

export const delegation: typeof english.delegation = persian?.delegation ?? english.delegation;
export const publicCheck: typeof english.publicCheck = persian?.publicCheck ?? english.publicCheck;

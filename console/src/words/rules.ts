// The texts of edge rules, which are loaded with their page.

import { rules as english } from './en/rules.ts';
import { persian } from './persian.ts';

export const rules: typeof english = persian?.rules ?? english;

// The texts of the operator's pages, which are loaded with these pages.

import { operator as english } from './en/operator.ts';
import { persian } from './persian.ts';

export const operator: typeof english = persian?.operator ?? english;

// The texts of the reseller's pages, which are loaded with these pages.

import { reseller as english } from './en/reseller.ts';
import { persian } from './persian.ts';

export const reseller: typeof english = persian?.reseller ?? english;

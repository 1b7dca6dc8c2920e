// The texts of the list of domains, which are loaded with their pages.

import * as english from './en/domains.ts';
import { persian } from './persian.ts';

export const domains: typeof english.domains = persian?.domains ?? english.domains;

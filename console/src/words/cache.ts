// The texts of the cache, which are loaded with their pages.

import * as english from './en/cache.ts';
import { persian } from './persian.ts';

export const cache: typeof english.cache = persian?.cache ?? english.cache;

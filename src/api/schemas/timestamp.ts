// A time, in UTC.

import { z } from 'zod';

export const Timestamp = z.iso.datetime().meta({ format: 'date-time', pattern: undefined });

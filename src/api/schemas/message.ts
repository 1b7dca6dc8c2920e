// The answer to a delete.

import { z } from 'zod';

export const Message = z.object({ message: z.string() }).meta({ id: 'Message' });

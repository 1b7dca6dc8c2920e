// Headers of every HTTP answer, whatever it is: answers are of one caller and of one moment, and are what they say they are.

export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store', // RFC 9111 §5.2.2.5
  'X-Content-Type-Options': 'nosniff',
};

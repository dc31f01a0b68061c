import type { IncomingHttpHeaders } from 'node:http';
import { Password } from '../../../src/index.ts';
import type { CredentialForms } from '../route.ts';
import { TEXTS } from '../texts.ts';

export type Presented =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: Password }
  | { readonly kind: 'none'; readonly reason: string };

/**
 * What a request proves itself with (original-system.md 3): `Basic <32 hex>` is a token, any other value is base64 of
 * `user:password`, split at the first colon.
 */
export function readCredentials(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  forms: CredentialForms,
): Presented {
  const header = headers.authorization;
  if (header === undefined || header === '') {
    const user = query.get('u');
    return forms === 'any' && user !== null ? password(user, query.get('p') ?? '') : none(TEXTS.malformedCredentials);
  }
  const parts = /^(\S+) +(.+?) *$/.exec(header);
  if (parts === null) return none(TEXTS.malformedCredentials);
  const [, scheme = '', value = ''] = parts;
  switch (scheme.toLowerCase()) {
    case 'basic':
      return readBasic(value);
    case 'token':
    case 'bearer':
      return forms === 'any' ? readToken(value) : none(TEXTS.notBasic);
    default:
      return none(TEXTS.notBasic);
  }
}

const TOKEN = /^[0-9a-f]{32}$/;

function readBasic(value: string): Presented {
  if (TOKEN.test(value)) return { kind: 'token', token: value };
  // Padded standard alphabet, as the original has it, and also without the padding.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return none(TEXTS.malformedCredentials);
  return readPair(Buffer.from(value, 'base64').toString());
}

/** InfluxDB 2 and 3 clients put `user:password`, or what they were given as a token, behind `Token` or `Bearer`. */
function readToken(value: string): Presented {
  return TOKEN.test(value) ? { kind: 'token', token: value } : readPair(value);
}

function readPair(pair: string): Presented {
  const colon = pair.indexOf(':');
  return colon < 1 ? none(TEXTS.malformedCredentials) : password(pair.slice(0, colon), pair.slice(colon + 1));
}

function password(user: string, text: string): Presented {
  // The wire protocol ends both at a NUL.
  if (user === '' || user.includes('\0') || text.includes('\0')) return none(TEXTS.malformedCredentials);
  return { kind: 'password', user, password: new Password(text) };
}

function none(reason: string): Presented {
  return { kind: 'none', reason };
}

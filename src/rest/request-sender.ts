import { createHash } from 'node:crypto';
import { plainAddress } from '../config/client-address.ts';
import type { Actor } from '../herder/recorded-change.ts';
import { isSenderSignature, senderSignature } from '../herder/request-signature.ts';
import type { RequestState } from './cross-origin.ts';
import { readBytes } from './request-body.ts';
import { queryText, type Context, type ResourceDependencies } from './resource.ts';

type SenderDependencies = Pick<ResourceDependencies, 'herder' | 'signatureAlgorithms'>;

const ADDRESS = 'X-Sluice-Client-Address';
const SIGNATURE = 'X-Sluice-Client-Signature';
const MAX_ADDRESS = 100;

/**
 * Who sent a request: the user whom this worker has authenticated, and the address of the client. A worker that forwards a
 * request signs where it came from; of another forwarded request the address is not known.
 */
export async function senderOf(context: Context, dependencies: SenderDependencies): Promise<Actor> {
  const state: RequestState = context.state;
  const { user = null } = state;
  const peer = addressOf(context);
  const isForwarded = queryText(context, 'forward') !== undefined || context.get(ADDRESS) !== '';
  if (!isForwarded) return { user, address: peer };
  return { user, address: await vouchedAddress(context, dependencies), ...(peer === null ? {} : { via: peer }) };
}

/** What is sent to another worker in place of the request as it came. */
export interface SentRequest {
  readonly path: string;
  readonly body: Buffer;
}

/** For a request that this worker forwards; none when it cannot say where it came from. */
export async function senderHeaders(
  context: Context,
  dependencies: SenderDependencies,
  sent?: SentRequest,
): Promise<Readonly<Record<string, string>>> {
  const { herder, signatureAlgorithms: [algorithm] = [] } = dependencies;
  const { sessionKey } = herder;
  if (algorithm === undefined || sessionKey === undefined) return {};
  const { address } = await senderOf(context, dependencies);
  if (address === null) return {};
  const text = await signedText(context, address, sent);
  return { [ADDRESS]: address, [SIGNATURE]: `${algorithm}:${senderSignature(text, algorithm, sessionKey)}` };
}

async function vouchedAddress(
  context: Context,
  { herder, signatureAlgorithms = [] }: SenderDependencies,
): Promise<string | null> {
  const address = context.get(ADDRESS);
  const [algorithm = '', signature = ''] = context.get(SIGNATURE).split(':', 2);
  const { sessionKey } = herder;
  const mayBe = address !== '' && address.length <= MAX_ADDRESS && signatureAlgorithms.includes(algorithm);
  if (!mayBe || sessionKey === undefined) return null;
  const text = await signedText(context, address);
  return isSenderSignature(signature, text, algorithm, sessionKey) ? address : null;
}

/** The signature is good for this request alone. */
async function signedText(context: Context, address: string, sent?: SentRequest): Promise<string> {
  const [path = ''] = (sent?.path ?? context.req.url ?? '').split('?', 1);
  const body = createHash('sha256')
    .update(sent?.body ?? (await readBytes(context.req)))
    .digest('hex');
  return [context.method, path, body, address].join('\n');
}

function addressOf(context: Context): string | null {
  const { remoteAddress } = context.req.socket;
  return remoteAddress === undefined ? null : plainAddress(remoteAddress);
}

import { createHash } from 'node:crypto';
import { plainAddress } from '../config/client-address.ts';
import type { Actor } from '../herder/recorded-change.ts';
import type { SessionKey } from '../herder/stores/config-state.ts';
import { isSenderSignature, senderSignature } from '../herder/request-signature.ts';
import type { RequestState } from './cross-origin.ts';
import { readBytes } from './request-body.ts';
import { queryText, type Context } from './resource.ts';

const ADDRESS = 'X-Sluice-Client-Address';
const SIGNATURE = 'X-Sluice-Client-Signature';
const MAX_ADDRESS = 100;

/** The path and the body that are forwarded in place of the original ones. */
export interface SentRequest {
  readonly path: string;
  readonly body: Buffer;
}

/** Finds the sender of a request. */
export class RequestSenders {
  readonly #keys: { readonly sessionKey: SessionKey | undefined };
  readonly #algorithms: readonly string[];

  /** `keys` has the session key of the cluster; `algorithms`: `inter.worker.verification.algorithms`, none on a standalone worker. */
  constructor(keys: { readonly sessionKey: SessionKey | undefined }, algorithms: readonly string[] = []) {
    this.#keys = keys;
    this.#algorithms = algorithms;
  }

  /**
   * The sender of a request: the user that this worker has authenticated, and the address of the client. A worker that
   * forwards a request signs the address of its client. Without a valid signature, the client address of a forwarded
   * request is unknown.
   */
  async of(context: Context): Promise<Actor> {
    const state: RequestState = context.state;
    const { user = null } = state;
    const peer = addressOf(context);
    const isForwarded = queryText(context, 'forward') !== undefined || context.get(ADDRESS) !== '';
    if (!isForwarded) return { user, address: peer };
    return { user, address: await this.#signedAddress(context), ...(peer === null ? {} : { via: peer }) };
  }

  /**
   * Headers with the client address, for a request that this worker forwards; empty if the address is unknown or cannot
   * be signed.
   */
  async headers(context: Context, sent?: SentRequest): Promise<Readonly<Record<string, string>>> {
    const [algorithm] = this.#algorithms;
    const { sessionKey } = this.#keys;
    if (algorithm === undefined || sessionKey === undefined) return {};
    const { address } = await this.of(context);
    if (address === null) return {};
    const text = await signedText(context, address, sent);
    return { [ADDRESS]: address, [SIGNATURE]: `${algorithm}:${senderSignature(text, algorithm, sessionKey)}` };
  }

  async #signedAddress(context: Context): Promise<string | null> {
    const address = context.get(ADDRESS);
    const [algorithm = '', signature = ''] = context.get(SIGNATURE).split(':', 2);
    const { sessionKey } = this.#keys;
    const isPlausible = address !== '' && address.length <= MAX_ADDRESS && this.#algorithms.includes(algorithm);
    if (!isPlausible || sessionKey === undefined) return null;
    const text = await signedText(context, address);
    return isSenderSignature(signature, text, algorithm, sessionKey) ? address : null;
  }
}

/**
 * The text that is signed. It contains the method, the path and the body, so that the signature is invalid for other
 * requests.
 */
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

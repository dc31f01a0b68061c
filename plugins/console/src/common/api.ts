/**
 * Thrown if the worker answers with an error or does not answer, or if the path cannot be sent. Without an answer,
 * `status` is 0.
 */
export class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/**
 * Sends a request to the worker that served the page. Rejects with an ApiError, which has the worker's own message if
 * the worker answered.
 */
export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const text = await requestText(method, path, body === undefined ? undefined : JSON.stringify(body));
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Like `request`, but with JSON as text, so that integers beyond the safe range of a JavaScript number keep all digits. */
export async function requestText(method: string, path: string, json?: string): Promise<string> {
  // In a URL, a name that is `.` or `..` would change the path.
  if (path.split(/[?#]/, 1)[0] !== new URL(path, 'http://worker').pathname) {
    throw new ApiError(
      0,
      'No address can have this name: use the API with a client that sends paths as they are, such as curl --path-as-is',
    );
  }
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      ...(json === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: json }),
    });
  } catch {
    throw new ApiError(0, 'The worker does not answer');
  }
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, messageOf(text, response.status));
  return text;
}

/** The path of a connector in the API. */
export function connectorPath(name: string): string {
  return `/connectors/${inPath(name)}`;
}

/** Encodes a name for a path. Lone surrogates, which cannot be encoded, become replacement characters. */
export function inPath(name: string): string {
  return encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'));
}

function messageOf(text: string, status: number): string {
  try {
    return String((JSON.parse(text) as { message: unknown }).message);
  } catch {
    return text === '' ? `The worker answered ${String(status)}` : text.slice(0, 500);
  }
}

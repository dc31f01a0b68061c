import module from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** URLs of the API modules of this process (compiled or TypeScript), by the names under which plugins import them. */
const API_URLS: ReadonlyMap<string, string> = new Map([
  ['sluice', moduleUrl('src/index')],
  ['sluice/database', moduleUrl('plugins/database/index')],
]);

function moduleUrl(path: string): string {
  return new URL(`../../../../${path}${extname(fileURLToPath(import.meta.url))}`, import.meta.url).href;
}

interface Context {
  readonly parentURL?: string;
}
type Resolve<R> = (specifier: string, context: Context, next: (specifier: string, context: Context) => R) => R;
/** Available in Node 22.15 and later. Such hooks also apply to `require`. */
type RegisterHooks = (hooks: { readonly resolve: Resolve<unknown> }) => void;

/** The same hook for Node 20, which runs hooks in a separate thread. */
const HOOK_SOURCE = `
let urls;
export async function initialize(data) { urls = data; }
export async function resolve(specifier, context, next) {
  return next(urls.get(specifier) ?? specifier, context);
}`;

let isRegistered = false;

/**
 * Resolves `import … from 'sluice'` and `from 'sluice/database'` to the modules of this process, in all modules. Otherwise a
 * package that is installed outside the worker would find another copy of these modules, or none. The classes of another copy
 * are different classes, so the worker would not recognize its errors, schemas and structs.
 */
export function resolvePluginApi(): void {
  if (isRegistered) return;
  isRegistered = true;
  const { registerHooks } = module as { registerHooks?: RegisterHooks };
  if (registerHooks === undefined) {
    module.register(`data:text/javascript,${encodeURIComponent(HOOK_SOURCE)}`, { data: API_URLS });
    return;
  }
  registerHooks({
    resolve: (specifier, context, next) => next(API_URLS.get(specifier) ?? specifier, context),
  });
}

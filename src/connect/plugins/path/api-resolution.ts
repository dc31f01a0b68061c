import module from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The plugin API of this very process, as built or as source. */
const API_URL = new URL(`../../../index${extname(fileURLToPath(import.meta.url))}`, import.meta.url).href;
const API_NAME = 'sluice';

interface Context {
  readonly parentURL?: string;
}
type Resolve<R> = (specifier: string, context: Context, next: (specifier: string, context: Context) => R) => R;
/** Of Node 22.15 and later; hooks of this kind also see `require`. */
type RegisterHooks = (hooks: { readonly resolve: Resolve<unknown> }) => void;

/** The same hook for Node 20, which runs it in a thread of its own. */
const HOOK_SOURCE = `
let api;
export async function initialize(url) { api = url; }
export async function resolve(specifier, context, next) {
  return specifier === '${API_NAME}' ? next(api, context) : next(specifier, context);
}`;

let isRegistered = false;

/**
 * From now on `import … from 'sluice'` means this process's own modules, wherever it stands. A package that is installed apart
 * from the worker would find another copy of them or none, and a class of another copy is another class: its errors,
 * schemas and structs would not be known here.
 */
export function resolvePluginApi(): void {
  if (isRegistered) return;
  isRegistered = true;
  const { registerHooks } = module as { registerHooks?: RegisterHooks };
  if (registerHooks === undefined) {
    module.register(`data:text/javascript,${encodeURIComponent(HOOK_SOURCE)}`, { data: API_URL });
    return;
  }
  registerHooks({
    resolve: (specifier, context, next) => next(specifier === API_NAME ? API_URL : specifier, context),
  });
}

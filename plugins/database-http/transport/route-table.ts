import { PLAIN_FAILURE, type FailureForm, type MethodRoute, type Route } from '../route.ts';

/** The routes of a path by method. There are no routes if only a prefix of the path is known. */
export interface KnownPath {
  /** The path, or its known prefix. */
  readonly path: string;
  readonly routes: ReadonlyMap<string, MethodRoute>;
  readonly failure: FailureForm;
}

/** Finds the routes of a path. */
export class RouteTable {
  readonly #paths = new Map<string, KnownPath & { readonly routes: Map<string, MethodRoute> }>();
  readonly #prefixes: KnownPath[] = [];

  constructor(all: readonly Route[]) {
    for (const route of all) {
      if ('prefix' in route) {
        this.#prefixes.push({ path: route.prefix, routes: new Map(), failure: route.failure });
        continue;
      }
      const { path, method, failure = PLAIN_FAILURE } = route;
      const known = this.#paths.get(path) ?? { path, routes: new Map<string, MethodRoute>(), failure };
      known.routes.set(method, route);
      if (method === 'GET' && route.access === 'anyone') known.routes.set('HEAD', route);
      this.#paths.set(path, known);
    }
  }

  find(path: string): KnownPath | undefined {
    return this.#paths.get(path) ?? this.#prefixes.find((known) => path.startsWith(known.path));
  }
}

import type { OptionDeclaration, OptionDeclarations, OptionResult } from './option.ts';
import { defaultValue } from './parse.ts';
import { optionText } from './to-text.ts';

/** An option as described in responses of `/config` and `/config/validate` (docs/compatibility.md#the-management-api). */
export interface DefinitionView {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default_value: string | null;
  readonly importance: string;
  readonly documentation: string;
  readonly group: string | null;
  /** Part of the response up to Connect 4.1; user interfaces still read it. */
  readonly order: number;
  readonly order_in_group: number;
  readonly width: string;
  readonly display_name: string;
  readonly dependents: readonly string[];
}

export interface ValueView {
  readonly name: string;
  readonly value: string | null;
  readonly recommended_values: readonly (string | null)[];
  readonly errors: readonly string[];
  readonly visible: boolean;
}

/** The response of `PUT /connector-plugins/{plugin}/config/validate`. */
export interface ConfigInfos {
  readonly name: string;
  readonly error_count: number;
  readonly groups: readonly string[];
  readonly configs: readonly { readonly definition: DefinitionView | null; readonly value: ValueView }[];
}

/** Declarations and validation results in display order. */
export interface ValidatedSection {
  readonly declarations: OptionDeclarations;
  readonly results: readonly OptionResult[];
}

/**
 * Builds the response of `/config/validate`. `undeclared`: results for keys that no section declares; they have no
 * definition.
 */
export function configInfos(
  pluginClass: string,
  sections: readonly ValidatedSection[],
  undeclared: readonly OptionResult[] = [],
): ConfigInfos {
  const configs = sections.flatMap(({ declarations, results }) =>
    results.map((result) => {
      const declaration = declarations[result.name];
      const definition = declaration === undefined ? null : definitionView(result.name, declaration, declarations);
      return { definition, value: valueView(result, declaration) };
    }),
  );
  configs.unshift(...undeclared.map((result) => ({ definition: null, value: valueView(result, undefined) })));
  return {
    name: pluginClass,
    error_count: configs.reduce((count, { value }) => count + value.errors.length, 0),
    groups: [...new Set(configs.flatMap(({ definition }) => definition?.group ?? []))],
    configs,
  };
}

/** The response of `GET /connector-plugins/{plugin}/config`: definitions only, without internal ones. */
export function shownDefinitions(declarations: OptionDeclarations): DefinitionView[] {
  return Object.entries(declarations)
    .filter(([, declaration]) => declaration.internal !== true)
    .map(([name, declaration]) => definitionView(name, declaration, declarations));
}

function definitionView(
  name: string,
  declaration: OptionDeclaration,
  declarations: OptionDeclarations,
): DefinitionView {
  const order = orderInGroup(name, declarations);
  return {
    name,
    type: declaration.type,
    required: declaration.default === undefined,
    default_value: optionText(defaultValue(name, declaration), declaration.type),
    importance: declaration.importance,
    documentation: declaration.documentation,
    group: declaration.group ?? null,
    order,
    order_in_group: order,
    width: declaration.width ?? 'NONE',
    display_name: declaration.displayName ?? name,
    dependents: declaration.dependents ?? [],
  };
}

function valueView(result: OptionResult, declaration: OptionDeclaration | undefined): ValueView {
  const type = declaration?.type ?? 'STRING';
  return {
    name: result.name,
    value: optionText(result.value, type),
    recommended_values: result.recommendedValues.map((value) => optionText(value, type)),
    errors: result.errors,
    visible: result.visible,
  };
}

/** The position of an option in its group: as declared, or counted from 1; -1 without a group. @internal */
export function orderInGroup(name: string, declarations: OptionDeclarations): number {
  const option = declarations[name];
  if (option?.order !== undefined) return option.order;
  if (option?.group === undefined) return -1;
  let place = 0;
  for (const [other, { group }] of Object.entries(declarations)) {
    if (group === option.group) place++;
    if (other === name) break;
  }
  return place;
}

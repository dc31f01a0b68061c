import { oneOfIgnoringCase } from '../../config/validators.ts';
import type { OptionDeclaration, Validator } from '../../config/option.ts';

/** Options that several transformations have. */

export const replaceNullWithDefault = {
  type: 'BOOLEAN',
  default: true,
  importance: 'MEDIUM',
  documentation:
    'Whether a field that holds null and has a default is read as its default; with false it is read as null.',
} as const satisfies OptionDeclaration;

export const fieldSyntaxVersion = {
  type: 'STRING',
  default: 'V1',
  importance: 'HIGH',
  documentation:
    'How fields are named. `V1`: a name is a field at the top. `V2`: dots lead into structs and maps, and backticks around a name keep the dots in it.',
  validator: oneOfIgnoringCase('V1', 'V2'),
} as const satisfies OptionDeclaration;

/** A list with at least one entry (transforms.util.NonEmptyListValidator). */
export const nonEmptyList: Validator = {
  text: 'non-empty list',
  check: (_name, value) => (Array.isArray(value) && value.length > 0 ? undefined : 'Empty list'),
};

/** The text of lists of pairs (`spec` of Cast, `renames` of ReplaceField). */
export const PAIRS_TEXT = 'list of colon-delimited pairs, e.g. <code>foo:bar,abc:xyz</code>';

/** Of its own in each version of the package. */
export const MARK = 'first';

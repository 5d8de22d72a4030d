# A stand-in for nixpkgs, for tests only: it has the few names that our files use and builds with the tools of this machine. It proves
# that the files fit together and that vendorHash is right; it proves nothing about the real nixpkgs.
{
  description = "the part of nixpkgs that the flake uses, backed by the tools of this machine";

  outputs =
    { self }:
    let
      lib = import ./lib.nix;
      packages = system: import ./packages.nix { inherit lib system; };
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs [
        "x86_64-linux"
        "aarch64-linux"
      ] packages;
    };
}

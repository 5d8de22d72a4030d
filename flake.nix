{
  description = "Measure reliable transports against each other, reproducibly";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      forEach = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system} (parts system));

      # What every output of one system is made of. An unknown revision stays empty: bench then says that it does not know its commit.
      parts =
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          source = import ./nix/source.nix;
          bench = pkgs.callPackage ./nix/package.nix {
            inherit source;
            revision = self.rev or self.dirtyRev or "";
          };
        in
        {
          inherit source bench;
          drivers = pkgs.callPackage ./nix/drivers.nix { inherit bench; };
          images = pkgs.callPackage ./nix/images.nix { inherit bench; };
          netem-vm = pkgs.callPackage ./nix/netem-vm.nix { inherit source; };
        };
    in
    {
      packages = forEach (
        _: p:
        {
          inherit (p) bench;
          default = p.bench;
        }
        // p.drivers
        // p.images
      );

      apps = forEach (
        _: p: rec {
          bench = {
            type = "app";
            program = "${p.bench}/bin/bench";
            meta.description = "run the benchmark, without root";
          };
          default = bench;
        }
      );

      checks = forEach (pkgs: p: pkgs.callPackage ./nix/checks.nix { inherit (p) bench netem-vm; });

      devShells = forEach (
        pkgs: _: {
          default = pkgs.mkShell {
            packages = [
              pkgs.go
              pkgs.gcc
              pkgs.git
              pkgs.enet
            ];
            LIBRARY_PATH = "${pkgs.glibc.static}/lib";
          };
        }
      );

      formatter = forEach (pkgs: _: pkgs.nixfmt-tree);
    };
}
